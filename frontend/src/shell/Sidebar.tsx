/** What there is: recordings, hosts and devices, always there where the page is wide enough. */

import { Beside } from "../pairs/Beside";
import { Devices } from "./Devices";
import { fileChooser } from "./DropZone";
import { drawer } from "./drawer";
import { Hosts } from "./Hosts";
import { Plans } from "./Plans";
import { Recordings } from "./Recordings";

export function Sidebar() {
  return (
    <div class={`sidebar ${drawer.value ? "unfolded" : ""}`} id="sidebar">
      <Recordings />
      <Beside />
      <Hosts />
      <Devices />
      <Plans />
      <div class="item add">
        <button type="button" class="button" onClick={fileChooser}>
          Open a file …
        </button>
        <p class="small quiet">or drop it anywhere on the page</p>
      </div>
    </div>
  );
}
