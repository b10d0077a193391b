/** The Memory Viewer: what the compiler planned for an HLO module, buffer by buffer. */

import { registerView } from "../registry";
import { PlanView } from "./PlanView";

registerView({
  key: "plan",
  label: "Memory Viewer",
  order: 0,
  component: PlanView,
  of: "plan",
});
