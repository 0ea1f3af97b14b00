/** Printable ASCII, Latin letters and the separator of sections: one column each. */
const SINGLE_WIDTH = /^[\u0020-\u007e\u00c0-\u024f\u203a]*$/

/**
 * Creates a function that measures the terminal columns of these texts. Unicode tables are loaded only if needed: they
 * take as long as the request of a short command.
 */
export async function createWidthFunction(texts: readonly string[]): Promise<(text: string) => number> {
  if (texts.every((text) => SINGLE_WIDTH.test(text))) return (text) => text.length
  const { default: stringWidth } = await import('string-width')
  return stringWidth
}
