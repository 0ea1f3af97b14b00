/** Printable ASCII, Latin letters and the mark between sections: one column each. */
const NARROW = /^[\u0020-\u007e\u00c0-\u024f\u203a]*$/

/**
 * What tells how many columns a terminal gives to one of these texts. The tables of Unicode are loaded only for texts that
 * need them: they cost a short command as much as its request.
 */
export async function widthOf(texts: readonly string[]): Promise<(text: string) => number> {
  if (texts.every((text) => NARROW.test(text))) return (text) => text.length
  const { default: stringWidth } = await import('string-width')
  return stringWidth
}
