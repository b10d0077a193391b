/** Gives the frame the fonts that TensorBoard's own page has, from the same server. */

const BORROWED = ["Roboto", "Roboto Mono"];

/** Declares the parent's Roboto families here too; without a reachable parent the system's fonts serve. */
export function borrowFonts(frame: Window): void {
  if (frame.parent === frame) return;
  try {
    for (const face of robotoOf(frame.parent.document)) frame.document.fonts.add(face);
  } catch (error) {
    // Another origin's page or sheet; anything else is a mistake of ours.
    if (!(error instanceof DOMException)) throw error;
  }
}

function* robotoOf(page: Document): Generator<FontFace> {
  for (const sheet of page.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule.constructor.name !== "CSSFontFaceRule") continue;
      const { style } = rule as CSSFontFaceRule;
      const source = style.getPropertyValue("src");
      const family = style.getPropertyValue("font-family").replace(/["']/g, "");
      if (!BORROWED.includes(family) || !source) continue;
      yield new FontFace(family, absolute(source, sheet.href ?? page.baseURI), {
        style: style.getPropertyValue("font-style") || "normal",
        weight: style.getPropertyValue("font-weight") || "400",
        unicodeRange: style.getPropertyValue("unicode-range") || "U+0-10FFFF",
      });
    }
  }
}

const absolute = (source: string, base: string): string =>
  source.replace(/url\(["']?([^"')]+)["']?\)/g, (_, url: string) => `url("${new URL(url, base)}")`);
