/** The Allocations view: every allocation from birth to death, at any size of recording. */

import { registerView } from "../registry";
import { Allocations } from "./Allocations";

registerView({ key: "allocations", label: "Allocations", order: 20, component: Allocations });
