/** The Settings view: what the recording says of itself. */

import { registerView } from "../registry";
import { Settings } from "./Settings";

registerView({ key: "settings", label: "Settings", order: 90, component: Settings });
