import type { FileText } from '../parsed.js'
import type { CountedFile } from './markup-texts.js'

type TextFinder = (input: CountedFile, visit: (text: FileText) => void) => void | Promise<void>

/** What finds the texts of a file, by its media type; independent of the reader of its format. */
const FINDERS: readonly (readonly [types: RegExp, load: () => Promise<TextFinder>])[] = [
  [/officedocument|opendocument|visio\.drawing$/, async () => (await import('./package-texts.js')).findPackageTexts],
  [/^(?:text\/html|application\/xhtml\+xml)$/, async () => (await import('./html-texts.js')).findPageTexts],
  [/^application\/epub\+zip$/, async () => (await import('./html-texts.js')).findBookTexts],
  [/^message\/rfc822$/, async () => (await import('./mail-texts.js')).findMailTexts],
  [/^application\/msword$/, async () => (await import('./binary-texts.js')).findDocTexts],
  [/^application\/vnd\.ms-powerpoint$/, async () => (await import('./binary-texts.js')).findPptTexts],
  [/^application\/vnd\.ms-outlook$/, async () => (await import('./binary-texts.js')).findOutlookTexts],
  [/^application\/rtf$/, async () => (await import('./binary-texts.js')).findRtfTexts],
  [/xml/, async () => (await import('./plain-texts.js')).findXmlTexts],
  [/^text\/|json|yaml|subrip/, async () => (await import('./plain-texts.js')).findPlainTexts],
]

/** Calls `visit` for each text of a file. @returns whether the texts of its format are counted */
export async function findTexts(input: CountedFile, visit: (text: FileText) => void): Promise<boolean> {
  const load = FINDERS.find(([types]) => types.test(input.mediaType))?.[1]
  await (await load?.())?.(input, visit)
  return load !== undefined
}
