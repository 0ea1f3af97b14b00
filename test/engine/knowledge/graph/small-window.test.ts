import { expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { ProviderFailure } from '../../../../src/engine/base/provider-failure.js'
import { requestExtraction } from '../../../../src/engine/knowledge/graph/model-reader.js'
import { estimateMaxTokens } from '../../../../src/engine/models/tokens.js'
import type { ChatMessage, Generator } from '../../../../src/engine/models/types.js'

const PASSAGE = 'The ship Aurora belongs to the Harbour Office. '.repeat(120)
const REPLY = JSON.stringify({ entities: [{ name: 'Aurora', type: 'product' }], relations: [] })

it('a passage for graph extraction is cut to the model window, and to half of it if the model rejects it', async () => {
  const given: number[] = []
  const generator: Generator = {
    reference: { pluginId: 'test', provider: 'test', model: 'small' },
    contextTokens: 2048,
    async *generate(messages: ChatMessage[], { maxTokens = 0 }) {
      const tokens = messages.reduce((sum, { content }) => sum + estimateMaxTokens(String(content)), 0)
      given.push(tokens + maxTokens)
      if (tokens + maxTokens > 1200)
        throw new KsError('provider-failed', 'too long', {
          cause: new ProviderFailure('context-too-long', 'status 400'),
        })
      yield { type: 'delta', text: REPLY }
      yield { type: 'end', finishReason: 'stop' }
    },
  }
  const said = await requestExtraction(generator, PASSAGE, { signal: new AbortController().signal })
  expect(said?.entities).toEqual([{ name: 'Aurora', type: 'product' }])
  expect(given).toHaveLength(2)
  expect(given[0]).toBeLessThanOrEqual(2048)
  expect(given[1]).toBeLessThanOrEqual(1024)
})
