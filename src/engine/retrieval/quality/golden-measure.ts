import { createHash } from 'node:crypto'
import type { GoldenRunResult } from '../../../contract/gateway/golden-runs.js'
import type { EvidenceBundle, EvidenceItem } from '../../../contract/gateway/queries.js'
import type { QuestionFigures } from '../../../lib/golden-metrics.js'
import type { AnchorLocation } from './golden-anchors.js'
import { overlaps } from './text-location.js'

/** Expected evidence: a location in a document, or a passage id. */
export type GoldenEvidence = { text: string } & ({ label: AnchorLocation } | { nodeId: string })

/** Hexadecimal digits: two passages of one answer collide in one of some 10^16 cases. */
const HASH_LENGTH = 16

function containsEvidence({ nodeId, citations: [citation] }: EvidenceItem, expected: GoldenEvidence): boolean {
  if ('nodeId' in expected) return nodeId === expected.nodeId
  const { documentId, ranges } = expected.label
  if (citation?.documentAssetId !== documentId) return false
  const { startOffset: start = 0, endOffset: end = 0 } = citation
  return ranges === undefined || ranges.some((range) => overlaps(range, { start, end }))
}

/** Computes recall and reciprocal rank of the first `k` items of a question's evidence. */
export function measureEvidence(
  bundle: Pick<EvidenceBundle, 'items'>,
  expected: readonly GoldenEvidence[],
  k: number,
): { recall: number; reciprocalRank: number; missing: string[] } {
  const items = bundle.items.slice(0, k)
  const missing = expected
    .filter((evidence) => !items.some((item) => containsEvidence(item, evidence)))
    .map(({ text }) => text)
  const first = items.findIndex((item) => expected.some((evidence) => containsEvidence(item, evidence)))
  return {
    recall: (expected.length - missing.length) / expected.length,
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
    missing,
  }
}

/** Hashes items by document and text: each parse gives passages new ids. */
export function hashEvidence({ items }: Pick<EvidenceBundle, 'items'>): string[] {
  return items.map(({ text, citations }) =>
    createHash('sha256').update(`${citations[0]?.documentAssetId}\0${text}`).digest('hex').slice(0, HASH_LENGTH),
  )
}

/** Judges a measured question: a wrong answer fails it, however good its evidence is. */
export function judgeOutcome({ recall, answerable, answer }: QuestionFigures): GoldenRunResult['outcome'] {
  if (answer?.right === false || recall === 0 || (recall === undefined && answerable === false)) return 'failed'
  return (recall ?? 1) < 1 || answerable === false ? 'partly' : 'passed'
}
