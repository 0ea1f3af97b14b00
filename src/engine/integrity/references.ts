import { setImmediate as turn } from 'node:timers/promises'
import { type SectionFields, storedElements, walkSections } from '../parse/read-stored.js'
import { type NodeReferences, nodeReferences, placedNodes, referencesOf } from '../rows/integrity/nodes.js'
import type { ScannedVersion } from '../rows/integrity/versions.js'
import { fromCell, unlessDamaged } from '../storage/readable.js'
import { unlessUnreadable, type VersionCheck, versionPhase } from './artifacts.js'
import { type Finding, finding, type Remedy, type Scan } from './findings.js'
import { type Phase, SLICE_FINDINGS, sliceOf } from './phase.js'
import { projections } from './projections.js'
import { missingVectors, vectors } from './vectors.js'

const SLICE_NODES = 500
/** Passages of small documents are read together up to this count. */
const NODES_TOGETHER = 500
const SLICE_STRAYS = 200

/** Checks that a version has all its passages, and that they refer to existing sections and elements. */
const versions = versionPhase(prepareReferences)

async function prepareReferences(scan: Scan, rows: ScannedVersion[]): Promise<VersionCheck> {
  let sum = 0
  const small = rows.filter((row) => {
    sum += row.node_count
    return sum <= NODES_TOGETHER
  })
  const together = await scan.context.db.read(
    referencesOf(
      small.map(({ key }) => key),
      2 * NODES_TOGETHER,
    ),
  )
  return (row) => checkReferences(scan, row, together?.get(row.key))
}

/** @param known the version's passages, if they were read before */
async function checkReferences(
  scan: Scan,
  row: ScannedVersion,
  known: NodeReferences[] | undefined,
): Promise<Finding[]> {
  const { db } = scan.context
  const remedy: Remedy = { by: 'reading-again', versionKey: row.key }
  const owner = { documentAssetId: row.document_id, parseArtifactId: row.artifact_id }
  const sections = await unlessUnreadable(() => sectionIds(row.outline))
  const elements = await unlessUnreadable(() => elementIds(row.artifact))
  const findings: Finding[] = []
  let count = 0
  let after = -1
  for (;;) {
    const nodes = known ?? (await db.read(nodeReferences(row.key, after, SLICE_NODES)))
    count += nodes.length
    for (const node of nodes) {
      if (findings.length >= SLICE_FINDINGS / 4) break
      const lost = lostReference(node, sections, elements)
      if (lost === undefined) continue
      const target = { type: 'knowledge-node', id: node.id, ...owner } as const
      findings.push(finding('broken-path-target', lost.code, `passage ${node.id} ${lost.what}`, target, remedy))
    }
    after = nodes.at(-1)?.ordinal ?? after
    if (known !== undefined || nodes.length < SLICE_NODES) break
    await turn()
  }
  if (count !== row.node_count) {
    const message = `version ${row.version} of ${JSON.stringify(row.filename)} has ${count} passages, ${row.node_count} were stored`
    findings.push(
      finding(
        'missing-node-target',
        'node-missing',
        message,
        { type: 'artifact-object', id: row.artifact_id, ...owner },
        remedy,
      ),
    )
  }
  return findings
}

function lostReference(
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
  const named = idsIn(node.elements)
  if (named === undefined) return { code: 'elements-unreadable', what: 'has a list of elements that cannot be read' }
  const lost = named.find((id) => !elements.has(id))
  return lost === undefined
    ? undefined
    : { code: 'element-missing', what: `refers to element ${JSON.stringify(lost)}, which the artifact lacks` }
}

function idsIn(json: string): string[] | undefined {
  const value = unlessDamaged(() => fromCell<unknown>(json))
  return Array.isArray(value) && value.every((id) => typeof id === 'string') ? value : undefined
}

async function sectionIds(outline: Uint8Array): Promise<Set<string>> {
  const ids = new Set<string>()
  const close = ({ id }: SectionFields) => {
    ids.add(id)
    return undefined
  }
  for await (const _ of walkSections(outline, { close }));
  return ids
}

async function elementIds(artifact: Uint8Array): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const { id } of storedElements(artifact)) ids.add(id)
  return ids
}

/** Passages without a version: no read returns them, they only take space. */
const strayNodes: Phase = async (scan, after) => {
  const rows = await scan.context.db.read(placedNodes(scan.space.key, Number(after ?? 0), SLICE_STRAYS))
  const findings = rows
    .filter((row) => row.stray === 1)
    .map((row) =>
      finding(
        'broken-path-target',
        'node-without-version',
        `passage ${row.id} belongs to no version of a document`,
        { type: 'knowledge-node', id: row.id },
        { by: 'removing-nodes', first: row.key, last: row.key },
      ),
    )
  return sliceOf(rows, SLICE_STRAYS, findings, (row) => row.key)
}

export const referencePhases: Phase[] = [versions, strayNodes, vectors, missingVectors, projections]
