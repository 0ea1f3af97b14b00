import { setImmediate as turn } from 'node:timers/promises'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import { readStoredElements, type SectionFields, walkSections } from '../../readers/index.js'
import { parseJsonCell, unlessDamaged } from '../../store/readable.js'
import {
  listNodePresence,
  listNodeReferences,
  listReferencesByVersion,
  type NodeReferences,
} from '../rows/integrity/nodes.js'
import type { ScannedVersion } from '../rows/integrity/versions.js'
import { createVersionPhase, unlessUnreadable, type VersionCheck } from './artifacts.js'
import { createFinding, type IntegrityFinding, type IntegrityScan, type RepairRemedy } from './findings.js'
import { MAX_SLICE_FINDINGS, makeScanSlice, type ScanPhase } from './phase.js'
import { projectionsPhase } from './projections.js'
import { missingVectorsPhase, vectorsPhase } from './vectors.js'

const SLICE_NODES = 500
/** Passages of small documents are read together up to this count. */
const MAX_BATCH_NODES = 500
const SLICE_STRAYS = 200

/** Checks that a version has all its passages, and that they refer to existing sections and elements. */
const versionsPhase = createVersionPhase(prepareReferences)

async function prepareReferences(scan: IntegrityScan, rows: ScannedVersion[]): Promise<VersionCheck> {
  let sum = 0
  const small = rows.filter((row) => {
    sum += row.node_count
    return sum <= MAX_BATCH_NODES
  })
  const batch = await scan.context.db.read(
    listReferencesByVersion(
      small.map(({ key }) => key),
      2 * MAX_BATCH_NODES,
    ),
  )
  return (row) => checkReferences(scan, row, batch?.get(row.key))
}

/** @param known the version's passages, if they were read before */
async function checkReferences(
  scan: IntegrityScan,
  row: ScannedVersion,
  knownNodes: NodeReferences[] | undefined,
): Promise<IntegrityFinding[]> {
  const { db } = scan.context
  const remedy: RepairRemedy = { by: 'reading-again', versionKey: row.key }
  const owner = { documentAssetId: row.document_id, parseArtifactId: row.artifact_id }
  const sections = await unlessUnreadable(() => listSectionIds(row.outline))
  const elements = await unlessUnreadable(() => listElementIds(row.artifact))
  const findings: IntegrityFinding[] = []
  let count = 0
  let after = -1
  for (;;) {
    const nodes = knownNodes ?? (await db.read(listNodeReferences(row.key, after, SLICE_NODES)))
    count += nodes.length
    for (const node of nodes) {
      if (findings.length >= MAX_SLICE_FINDINGS / 4) break
      const broken = findBrokenReference(node, sections, elements)
      if (broken === undefined) continue
      const target = { type: 'knowledge-node', id: node.id, ...owner } as const
      findings.push(
        createFinding('broken-path-target', broken.code, `passage ${node.id} ${broken.what}`, { target, remedy }),
      )
    }
    after = nodes.at(-1)?.ordinal ?? after
    if (knownNodes !== undefined || nodes.length < SLICE_NODES) break
    await turn()
  }
  if (count !== row.node_count) {
    const message = `version ${row.version} of ${JSON.stringify(row.filename)} has ${pluralize(count, 'passage')}, ${formatCount(row.node_count)} were stored`
    findings.push(
      createFinding('missing-node-target', 'node-missing', message, {
        target: { type: 'artifact-object', id: row.artifact_id, ...owner },
        remedy,
      }),
    )
  }
  return findings
}

function findBrokenReference(
  node: NodeReferences,
  sections: Set<string> | undefined,
  elements: Set<string> | undefined,
): { code: string; what: string } | undefined {
  if (sections !== undefined && !sections.has(node.outline_node))
    return {
      code: 'section-missing',
      what: `refers to section ${JSON.stringify(node.outline_node)}, which the outline lacks`,
    }
  if (elements === undefined) return undefined
  const namedIds = parseIds(node.elements)
  if (namedIds === undefined) return { code: 'elements-unreadable', what: 'has a list of elements that cannot be read' }
  const lost = namedIds.find((id) => !elements.has(id))
  return lost === undefined
    ? undefined
    : { code: 'element-missing', what: `refers to element ${JSON.stringify(lost)}, which the artifact lacks` }
}

function parseIds(json: string): string[] | undefined {
  const value = unlessDamaged(() => parseJsonCell<unknown>(json))
  return Array.isArray(value) && value.every((id) => typeof id === 'string') ? value : undefined
}

async function listSectionIds(outline: Uint8Array): Promise<Set<string>> {
  const ids = new Set<string>()
  const close = ({ id }: SectionFields) => {
    ids.add(id)
    return undefined
  }
  for await (const _ of walkSections(outline, { close }));
  return ids
}

async function listElementIds(artifact: Uint8Array): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const { id } of readStoredElements(artifact)) ids.add(id)
  return ids
}

/** Passages without a version: no read returns them, they only take space. */
const strayNodesPhase: ScanPhase = async (scan, after) => {
  const rows = await scan.context.db.read(listNodePresence(scan.space.key, Number(after ?? 0), SLICE_STRAYS))
  const findings = rows
    .filter((row) => row.stray === 1)
    .map((row) =>
      createFinding(
        'broken-path-target',
        'node-without-version',
        `passage ${row.id} belongs to no version of a document`,
        {
          target: { type: 'knowledge-node', id: row.id },
          remedy: { by: 'removing-nodes', first: row.key, last: row.key },
        },
      ),
    )
  return makeScanSlice(rows, SLICE_STRAYS, findings, (row) => row.key)
}

export const referencePhases: ScanPhase[] = [
  versionsPhase,
  strayNodesPhase,
  vectorsPhase,
  missingVectorsPhase,
  projectionsPhase,
]
