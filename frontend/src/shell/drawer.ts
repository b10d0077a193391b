/** Whether the sidebar is unfolded where the page is too narrow to always show it. */

import { signal } from "@preact/signals";

export const drawer = signal(false);
