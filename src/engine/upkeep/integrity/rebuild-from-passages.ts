import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { StoredArtifact } from '../../readers/index.js'
import type { CompiledElement, CompiledOutlineNode } from '../../store/compiled.js'
import { pack } from '../../store/packed.js'
import { parseJsonCell, unlessDamaged } from '../../store/readable.js'
import type { StoredNode } from '../rows/integrity/nodes.js'
import type { UnpackedVersion } from './artifacts.js'

interface RebuiltPart<T> {
  value: T
  packed: Uint8Array
}

/**
 * Rebuilds an artifact and an outline from passages, where the bytes of a document are lost. Passages know their text,
 * offsets, elements and sections, so offsets and ids do not change; text outside of passages becomes spaces.
 */
export async function rebuildFromPassages(
  title: string,
  nodes: StoredNode[],
  unpacked: UnpackedVersion,
): Promise<{ artifact: RebuiltPart<StoredArtifact>; outline: RebuiltPart<CompiledOutlineNode[]> }> {
  const artifact = unpacked.artifact ?? { text: joinTexts(nodes), elements: nodes.flatMap(toElements) }
  const outline = unpacked.outline ?? buildOutline(title, nodes)
  return {
    artifact: { value: artifact, packed: await pack(artifact) },
    outline: { value: outline, packed: await pack(outline) },
  }
}

function joinTexts(nodes: StoredNode[]): string {
  const end = Math.max(...nodes.map((node) => node.end_offset))
  let text = ' '.repeat(end)
  for (const { text: body, start_offset: start, end_offset: stop } of nodes) {
    // a passage of a split table repeats the header before its own rows
    const ownText = body.slice(body.length - (stop - start))
    text = text.slice(0, start) + ownText + text.slice(start + ownText.length)
  }
  return text
}

/** Elements of a passage: the first contains its text, all keep their ids, so that references to them stay valid. */
function toElements(node: StoredNode): CompiledElement[] {
  const ids = unlessDamaged(() => parseJsonCell<unknown>(node.elements))
  const sectionPath = parseStrings(node.section)
  return (Array.isArray(ids) ? ids : []).flatMap((id, index): CompiledElement[] => {
    if (typeof id !== 'string') return []
    const position = { startOffset: node.start_offset, endOffset: index === 0 ? node.end_offset : node.start_offset }
    return [
      {
        id,
        type: node.kind === 'table' || node.kind === 'code' || node.kind === 'list' ? node.kind : 'paragraph',
        text: index === 0 ? node.text : '',
        ...omitUndefined({ pageNumber: node.page ?? undefined }),
        sectionPath,
        metadata: position,
      },
    ]
  })
}

/** Sections from the ids and paths of passages; a parent without passages gets its title from the path. */
function buildOutline(title: string, nodes: StoredNode[]): CompiledOutlineNode[] {
  const sections = new Map<string, CompiledOutlineNode>()
  const roots: CompiledOutlineNode[] = []
  const getSection = (id: string, path: string[]): CompiledOutlineNode => {
    const existing = sections.get(id)
    if (existing !== undefined) return existing
    const level = id.split('.').length
    const section: CompiledOutlineNode = {
      id,
      title: path[level - 1] ?? path.at(-1) ?? title,
      level,
      tocSource: level === 1 ? 'document' : 'heading',
      sectionPath: path.slice(0, level),
      children: [],
      sourceElementIds: [],
    }
    sections.set(id, section)
    if (level === 1) roots.push(section)
    else getSection(id.slice(0, id.lastIndexOf('.')), path).children.push(section)
    return section
  }
  for (const node of nodes) {
    const section = getSection(node.outline_node, parseStrings(node.section))
    for (const id of parseStrings(node.elements))
      if (!section.sourceElementIds.includes(id)) section.sourceElementIds.push(id)
    section.startOffset = Math.min(section.startOffset ?? node.start_offset, node.start_offset)
    section.endOffset = Math.max(section.endOffset ?? node.end_offset, node.end_offset)
  }
  return roots
}

function parseStrings(json: string): string[] {
  const value = unlessDamaged(() => parseJsonCell<unknown>(json))
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}
