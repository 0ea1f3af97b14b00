import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ParseArtifact } from '../../src/contract/gateway/document-parts.js'
import type { DocumentAsset } from '../../src/contract/gateway/documents.js'
import type { AnswerDone, EvidenceBundle, EvidenceItem } from '../../src/contract/gateway/queries.js'
import { bodyOf } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'
import { startWholeDaemon, stopAllDaemons, type WholeDaemon } from '../helpers/whole-daemon.js'

const FILES = {
  'lighthouse.md': `# Lighthouse

The coast is flat.

## Building

The lighthouse of Westerheversand was built in 1908 and is forty metres tall.

## Keepers

- Two keepers lived in the houses beside it.
- The last keeper of the lighthouse left in 1978.
`,
  'ferry.html': `<html><head><title>Ferry</title></head><body><h1>Ferry</h1><p>Tickets are sold on board.</p>
<h2>Crossing</h2><p>The ferry to Amrum needs <b>two hours</b> &amp; calls at Föhr.</p></body></html>`,
  'notes.txt': 'First the weather.\n\nThe harbour master of Husum is Jens Petersen 🚢.\n\nLast of all the tides.\n',
}
const QUESTIONS = [
  ['When was the lighthouse of Westerheversand built?', 'was built in 1908'],
  ['When did the last keeper of the lighthouse leave?', 'left in 1978'],
  ['How long does the ferry to Amrum need?', 'needs two hours & calls'],
  ['Who is the harbour master of Husum?', 'Jens Petersen 🚢'],
] as const

let daemon: WholeDaemon
let space: string

beforeEach(async () => {
  daemon = await startWholeDaemon()
  const made = await daemon.call('POST', '/knowledge-spaces', { json: { name: 'Coast', slug: 'coast' } })
  space = `/knowledge-spaces/${(await bodyOf<{ id: string }>(made)).id}`
  for (const [name, content] of Object.entries(FILES)) {
    const sent = await daemon.call('POST', `${space}/documents`, { form: { file: new File([content], name) } })
    expect(sent.status).toBe(202)
  }
  await until(async () => {
    const { items } = await bodyOf<{ items: DocumentAsset[] }>(await daemon.call('GET', `${space}/documents`))
    return items.length === QUESTIONS.length - 1 && items.every(({ parserStatus }) => parserStatus === 'parsed')
  })
})
afterEach(stopAllDaemons)

/** The evidence of a query, read from its stream as a client does. */
async function evidenceFor(query: string): Promise<EvidenceItem[]> {
  const knowledgeSpaceId = space.slice(space.lastIndexOf('/') + 1)
  const answer = await daemon.call('POST', '/queries', { json: { knowledgeSpaceId, query } })
  const done = /^event: answer\.done\ndata: (.*)$/m.exec(await answer.text())?.[1] ?? 'null'
  const { metadata } = JSON.parse(done) as AnswerDone
  return (metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle.items
}

/** The text of a document, composed of the parsed elements at their offsets. */
async function textOf(documentId: string, version: number): Promise<string> {
  const path = `${space}/documents/${documentId}/parse-artifacts/${version}`
  const { elements } = await bodyOf<ParseArtifact>(await daemon.call('GET', path))
  let text = ''
  for (const { text: said = '', metadata } of elements) text = text.padEnd(Number(metadata['startOffset']), '\n') + said
  return text
}

const words = (text: string) => text.replace(/\s+/g, ' ').trim()

test('the offsets of every citation of an answer lead to the text of the cited passage', async () => {
  for (const [question, fact] of QUESTIONS) {
    const items = await evidenceFor(question)
    expect(items.length).toBeGreaterThan(0)
    const opened: string[] = []
    for (const { text: passage, citations } of items)
      for (const { documentAssetId, documentVersion, startOffset = -1, endOffset = -1 } of citations) {
        const text = await textOf(documentAssetId, documentVersion)
        const shown = words(text.slice(startOffset, endOffset))
        expect(shown).not.toBe('')
        // The text of a passage may start with the titles of its section.
        expect(words(passage).endsWith(shown)).toBe(true)
        opened.push(shown)
      }
    expect(opened[0]).toContain(fact)
  }
})
