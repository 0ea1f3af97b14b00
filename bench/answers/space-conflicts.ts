import { ClaimIndex } from '../../src/engine/knowledge/conflicts/claim-index.js'
import { extractClaims, type ParsedPassage, readPassage } from '../../src/engine/knowledge/conflicts/claims.js'
import { compareClaims } from '../../src/engine/knowledge/conflicts/compare-claims.js'
import { dataFolder, loadDataset, type SourceDocument } from '../lib/datasets.js'
import type { Figure } from '../lib/report.js'

/** Documents of each shared set: reading more takes minutes. */
const DOCUMENTS = 1000

/** What a whole space is said to hold against itself, nobody asking: pairs of ids and both sentences. */
export function conflictsOfSpace(documents: readonly SourceDocument[]): { ids: [string, string]; said: string[] }[] {
  const index = new ClaimIndex()
  const read: ParsedPassage[] = []
  return documents.flatMap((document, version) => {
    const passage = readPassage(document)
    read.push(passage)
    const claims = extractClaims(passage).map((claim) => ({ ...claim, ordinal: 0 }))
    const candidates = index.candidates(version, version, claims)
    index.add(version, version, claims)
    return candidates.flatMap(({ one, other }) => {
      const [left, right] = [one, other].map(({ version: at, place }) => ({ passage: read[at]!, place }))
      const found = compareClaims(left!, right!)
      if (found?.relation !== 'contradiction') return []
      return [
        { ids: [document.id, documents[other.version]!.id] as [string, string], said: [found.reason, ...found.quotes] },
      ]
    })
  })
}

/**
 * All pairs as one space, in which each must be found and nothing else.
 *
 * @param pairs their documents have ids of the pair's place and the side: `3 0`
 */
export function spaceFigures(
  label: string,
  pairs: readonly { one: string; other: string; conflict: boolean }[],
): Figure[] {
  const documents = pairs.flatMap(({ one, other }, at) =>
    [one, other].map((text, side) => ({ id: `${at} ${side}`, title: '', text })),
  )
  const alarms = new Set(
    conflictsOfSpace(documents).map(({ ids }) => [...new Set(ids.map((id) => id.split(' ')[0]))].sort().join(' ')),
  )
  const right = [...alarms].filter((alarm) => pairs[Number(alarm)]?.conflict === true).length
  const all = pairs.filter(({ conflict }) => conflict).length
  return [
    { name: `${label}: recall`, value: right / all, unit: '', note: `${right} of ${all} found` },
    { name: `${label}: precision`, value: right / Math.max(1, alarms.size), unit: '' },
  ]
}

/** Alarms over texts that hardly contradict each other. @param shows whether they are printed */
export function alarmFigures(shows: boolean): Figure[] {
  const folder = dataFolder()
  if (folder === undefined) return []
  return (['squad2-dev', 'cranfield', 'scifact', 'cmrc2018-dev-zh'] as const).map((name) => {
    const documents = loadDataset(folder, name, 'train').documents.slice(0, DOCUMENTS)
    const found = conflictsOfSpace(documents)
    if (shows) for (const { said } of found) process.stdout.write(`${name}: ${said.join('\n   ')}\n`)
    const note = `n=${documents.length}`
    return {
      name: `${name}: alarms of a space of 1,000`,
      value: (1000 * found.length) / documents.length,
      unit: '',
      note,
    }
  })
}
