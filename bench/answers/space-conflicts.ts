import { ClaimIndex } from '../../src/engine/knowledge/conflicts/claim-index.js'
import { extractClaims, type ParsedPassage, readPassage } from '../../src/engine/knowledge/conflicts/claims.js'
import { compareClaims } from '../../src/engine/knowledge/conflicts/compare-claims.js'
import { findDataFolder, loadDataset, type SourceDocument } from '../lib/datasets.js'
import type { Figure } from '../lib/report.js'

/** Documents of each shared set: reading more takes minutes. */
const MAX_DOCUMENTS = 1000

/** Finds the contradictions between documents of a space, without a question. `said`: the reason and both sentences. */
function findSpaceConflicts(documents: readonly SourceDocument[]): { ids: [string, string]; said: string[] }[] {
  const index = new ClaimIndex()
  const parsed: ParsedPassage[] = []
  return documents.flatMap((document, version) => {
    const passage = readPassage(document)
    parsed.push(passage)
    const claims = extractClaims(passage).map((claim) => ({ ...claim, ordinal: 0 }))
    const candidates = index.candidates(version, version, claims)
    index.add(version, version, claims)
    return candidates.flatMap(({ one, other }) => {
      const [left, right] = [one, other].map(({ version: at, index }) => ({ passage: parsed[at]!, index }))
      const found = compareClaims(left!, right!)
      if (found?.relation !== 'contradiction') return []
      return [
        { ids: [document.id, documents[other.version]!.id] as [string, string], said: [found.reason, ...found.quotes] },
      ]
    })
  })
}

/** Measures a space of all pairs, in which each conflict must be found and nothing else. */
export function measureSpace(
  label: string,
  pairs: readonly { one: string; other: string; conflict: boolean }[],
): Figure[] {
  const documents = pairs.flatMap(({ one, other }, index) =>
    // the id has the pair and the side
    [one, other].map((text, side) => ({ id: `${index} ${side}`, title: '', text })),
  )
  const alarms = new Set(
    findSpaceConflicts(documents).map(({ ids }) => [...new Set(ids.map((id) => id.split(' ')[0]))].sort().join(' ')),
  )
  const right = [...alarms].filter((alarm) => pairs[Number(alarm)]?.conflict === true).length
  const all = pairs.filter(({ conflict }) => conflict).length
  return [
    { name: `${label}: recall`, value: right / all, unit: '', note: `${right} of ${all} found` },
    { name: `${label}: precision`, value: right / Math.max(1, alarms.size), unit: '' },
  ]
}

/** Measures alarms on texts that hardly contradict each other. */
export function measureAlarms({ print }: { print: boolean }): Figure[] {
  const folder = findDataFolder()
  if (folder === undefined) return []
  return (['squad2-dev', 'cranfield', 'scifact', 'cmrc2018-dev-zh'] as const).map((name) => {
    const documents = loadDataset(folder, name, 'train').documents.slice(0, MAX_DOCUMENTS)
    const found = findSpaceConflicts(documents)
    if (print) for (const { said } of found) process.stdout.write(`${name}: ${said.join('\n   ')}\n`)
    const note = `n=${documents.length}`
    return {
      name: `${name}: alarms of a space of 1,000`,
      value: (1000 * found.length) / documents.length,
      unit: '',
      note,
    }
  })
}
