/** Every view of the page, one line each; each registers itself. */
import "./profile";
