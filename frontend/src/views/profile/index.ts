/** The Profile view: memory over time, the peak, and what it was made of. */

import { registerView } from "../registry";
import { Profile } from "./Profile";

registerView({ key: "profile", label: "Profile", order: 0, component: Profile, of: "device" });
