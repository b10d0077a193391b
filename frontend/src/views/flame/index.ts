/** The Flame view: stacks by what they weigh. */

import { registerView } from "../registry";
import { Flame } from "./Flame";

registerView({ key: "flame", label: "Flame graph", order: 40, component: Flame });
