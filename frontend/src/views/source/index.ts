/** The Source view: memory by file and line. */

import { registerView } from "../registry";
import { Source } from "./Source";

registerView({ key: "source", label: "Source", order: 50, component: Source });
