/** Words that others wrote, as they stand in a text. */

/** With a full stop at its end, unless it has an end of its own. */
export const sentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`);
