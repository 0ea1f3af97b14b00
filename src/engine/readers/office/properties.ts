import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { ZipArchive } from '../archive/zip.js'
import type { DeclaredFields } from '../parsed.js'
import { findCoreProperties, parseElementTexts, readElementTexts, toMeaningfulTitle } from './office-package.js'

export interface OfficeProperties {
  title?: string
  language?: string
  declared: DeclaredFields
}

/** Reads the core properties of an Office Open XML package. */
export function readCoreProperties(zip: ZipArchive, filename: string): OfficeProperties {
  const tags = ['dc:title', 'dc:creator', 'dc:language', 'dcterms:created', 'dcterms:modified']
  const texts = readElementTexts(zip, findCoreProperties(zip, filename), filename, tags)
  return toProperties(texts, 'dc:creator', 'dcterms:created', 'dcterms:modified')
}

/** Reads the properties of an OpenDocument package, or of the start of a flat document. @param of package or text */
export function readOpenDocumentProperties(of: ZipArchive | string, filename: string): OfficeProperties {
  const tags = ['dc:title', 'meta:initial-creator', 'dc:creator', 'dc:language', 'meta:creation-date', 'dc:date']
  const texts = typeof of === 'string' ? parseElementTexts(of, tags) : readElementTexts(of, 'meta.xml', filename, tags)
  const author = texts.has('meta:initial-creator') ? 'meta:initial-creator' : 'dc:creator'
  return toProperties(texts, author, 'meta:creation-date', 'dc:date')
}

function toProperties(
  texts: ReadonlyMap<string, string>,
  authorTag: string,
  createdTag: string,
  modifiedTag: string,
): OfficeProperties {
  const author = texts.get(authorTag)
  const language = texts.get('dc:language')
  return {
    ...omitUndefined({ title: toMeaningfulTitle(texts.get('dc:title')) }),
    ...(language !== undefined && /^[a-z]{2,3}(?:-[\w-]{1,20})?$/i.test(language) ? { language } : {}),
    declared: omitUndefined({
      // one element contains several authors
      authors: author?.split(/;\s*/),
      created: texts.get(createdTag),
      modified: texts.get(modifiedTag),
    }),
  }
}
