const ACCENTED = /[\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]|[\u0300-\u036f]/
const ACCENTS = /[\u0300-\u036f]/g

/** A text without the accents of Latin, Greek and Cyrillic letters. */
export function foldAccents(text: string): string {
  return ACCENTED.test(text) ? text.normalize('NFD').replace(ACCENTS, '').normalize('NFC') : text
}
