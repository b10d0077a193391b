/** Colours for what has an order: one hue, from light for the least to dark for the most. */

import { mix } from "./mix";

/**
 * Even steps of lightness (OKLCH, hue 165), so that the order is seen with any colour vision. Each
 * end stands out from the theme's background; the dark end lets a line in the text's colour be seen.
 */
const STOPS: Readonly<Record<"light" | "dark", readonly string[]>> = {
  light: ["#b3e5ce", "#8fd5b6", "#61be98", "#35a67d", "#038c65", "#047050", "#04553c"],
  dark: ["#cdfbe5", "#a1e8c8", "#77d3ad", "#51bd94", "#34a67d", "#288c69", "#2a7257"],
};

/** The colour of a place on the scale, 0 to 1. */
export function sequential(theme: "light" | "dark", shade: number): string {
  const stops = STOPS[theme];
  const place = Math.min(Math.max(shade, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  return mix(stops[below] as string, stops[below + 1] as string, place - below);
}
