import { defined } from '../../../lib/defined.js'
import type { ZipArchive } from '../archive/zip.js'
import type { Declared } from '../parsed.js'
import { elementTexts, properTitle, textsOfElements } from './office-package.js'

export interface OfficeProperties {
  title?: string
  language?: string
  declared: Declared
}

/** Reads the core properties of an Office Open XML package. */
export function coreProperties(zip: ZipArchive, filename: string): OfficeProperties {
  const tags = ['dc:title', 'dc:creator', 'dc:language', 'dcterms:created', 'dcterms:modified']
  const said = elementTexts(zip, 'docProps/core.xml', filename, tags)
  return properties(said, 'dc:creator', 'dcterms:created', 'dcterms:modified')
}

/** Reads the properties of an OpenDocument package, or of the start of a flat document. @param of package or text */
export function openProperties(of: ZipArchive | string, filename: string): OfficeProperties {
  const tags = ['dc:title', 'meta:initial-creator', 'dc:creator', 'dc:language', 'meta:creation-date', 'dc:date']
  const said = typeof of === 'string' ? textsOfElements(of, tags) : elementTexts(of, 'meta.xml', filename, tags)
  const author = said.has('meta:initial-creator') ? 'meta:initial-creator' : 'dc:creator'
  return properties(said, author, 'meta:creation-date', 'dc:date')
}

function properties(
  said: ReadonlyMap<string, string>,
  authorTag: string,
  createdTag: string,
  modifiedTag: string,
): OfficeProperties {
  const author = said.get(authorTag)
  const language = said.get('dc:language')
  return {
    ...defined({ title: properTitle(said.get('dc:title')) }),
    ...(language !== undefined && /^[a-z]{2,3}(?:-[\w-]{1,20})?$/i.test(language) ? { language } : {}),
    declared: defined({
      // one element contains several authors
      authors: author?.split(/;\s*/),
      created: said.get(createdTag),
      modified: said.get(modifiedTag),
    }),
  }
}
