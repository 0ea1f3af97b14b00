import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readCompletionStream } from '../../../src/engine/models/openai-compatible/chat-stream.js'

async function readText(...choices: object[]): Promise<string> {
  const lines = [...choices.map((choice) => JSON.stringify({ choices: [choice] })), '[DONE]']
  const body = Readable.from(lines.map((line) => Buffer.from(`data: ${line}\n\n`)))
  const response = { status: 200, mediaType: 'text/event-stream', body }
  let text = ''
  for await (const event of readCompletionStream(response, 'm', new AbortController().signal))
    if (event.type === 'delta') text += event.text
  return text
}

test('a stream whose content comes in parts gives the text of the parts', async () => {
  const parts = [
    { type: 'thinking', thinking: [] },
    { type: 'text', text: 'It costs ' },
    { type: 'text', text: '18' },
  ]
  expect(await readText({ delta: { content: parts } }, { delta: { content: '00.' } })).toBe('It costs 1800.')
})

test('a stream of messages in place of deltas gives each text once', async () => {
  const message = (content: unknown) => ({ message: { role: 'assistant', content } })
  expect(await readText(message('It costs 1800.'))).toBe('It costs 1800.')
  expect(await readText(message('It '), message('It costs '), message('It costs 1800.'))).toBe('It costs 1800.')
  expect(await readText({ delta: { content: 'It costs 1800.' } }, message('It costs 1800.'))).toBe('It costs 1800.')
})
