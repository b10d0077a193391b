/** A second line that a view has the chart draw, in bytes at the instants that it shows. */

import type { Usage } from "../api";

export interface OtherLine {
  readonly label: string;
  readonly title: string;
  /** Whether it differs enough from what is drawn for its entry in the legend. */
  readonly isSeen: boolean;
  /** Its bytes where `usage` has `row`; null where they are not known or no others than those drawn. */
  at(usage: Usage, row: number): number | null;
  /** What the event that a row shows is of, in words of the view's; null where that is not known. */
  of(usage: Usage, row: number): string | null;
}
