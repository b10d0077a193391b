/** Every view of the page, one line each; each registers itself. */
import "./allocations";
import "./plan";
import "./profile";
import "./segments";
import "./flame";
import "./settings";
import "./source";
import "./trace";
