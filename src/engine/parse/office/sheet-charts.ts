import type { ZipArchive } from '../archive/zip.js'
import type { Block } from '../parsed.js'
import { Charts } from './charts.js'
import { forEachTag, relationsOf, xmlPart } from './office-package.js'

const MAIN = 'xl/workbook.xml'

/** The charts of a workbook's sheets, by the name of the sheet; sheets that are charts too. */
export function sheetCharts(zip: ZipArchive, filename: string): Map<string, Block[]> {
  const found = new Map<string, Block[]>()
  // Most workbooks have none, and a binary one does not tell its sheets this way.
  if (!zip.entries.has(MAIN) || ![...zip.entries.keys()].some((name) => /^xl\/charts\/chart[^/]*\.xml$/.test(name)))
    return found
  const relations = relationsOf(zip, MAIN, filename)
  const charts = new Charts(zip, filename)
  const seen = new Set<string>()
  forEachTag(xmlPart(zip, MAIN, filename), 'sheet', (attributes) => {
    const sheet = relations.get(attributes.get('r:id') ?? '')?.part
    const name = attributes.get('name')
    if (sheet === undefined || name === undefined) return
    const blocks = [...relationsOf(zip, sheet, filename).values()]
      .filter(({ kind, part }) => kind === 'drawing' && zip.entries.has(part))
      .flatMap(({ part }) => [...relationsOf(zip, part, filename).values()])
      .filter(({ kind, part }) => kind === 'chart' && !seen.has(part))
      .flatMap(({ part }) => {
        seen.add(part)
        return charts.blocks(part)
      })
    if (blocks.length > 0) found.set(name, blocks)
  })
  return found
}
