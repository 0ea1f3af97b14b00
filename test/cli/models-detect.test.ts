import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { detectServers } from '../../src/cli/models/detect.js'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server that answers with JSON by path, and with 404 elsewhere. */
async function serving(answers: Record<string, object>): Promise<string> {
  const server = createServer((request, response) => {
    const said = answers[request.url ?? '']
    response.writeHead(said === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(said ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => void server.close())
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const windowsOf = async (answers: Record<string, object>) => {
  const [found] = await detectServers([{ provider: 'guess', url: await serving(answers) }])
  const windows = found?.models.map(({ name, contextTokens, mostContextTokens }) => [
    name,
    contextTokens,
    mostContextTokens,
  ])
  return { provider: found?.provider, windows }
}

describe('the context window of a model', () => {
  it('equals the value with which LM Studio has loaded or loads the model', async () => {
    const entry = { object: 'model', type: 'llm', max_context_length: 131_072 }
    const data = [
      { ...entry, id: 'loaded', state: 'loaded', loaded_context_length: 20_000 },
      { ...entry, id: 'not-loaded', state: 'not-loaded' },
      { ...entry, id: 'small', state: 'not-loaded', max_context_length: 2048 },
    ]
    expect(await windowsOf({ '/api/v0/models': { data } })).toEqual({
      provider: 'lmstudio',
      windows: [
        ['loaded', 20_000, 131_072],
        ['not-loaded', 4096, 131_072],
        ['small', 2048, undefined],
      ],
    })
  })

  it('equals the size of a llama.cpp slot, not the context size of the training', async () => {
    const entry = { id: 'qwen.gguf', owned_by: 'llamacpp', meta: { n_ctx_train: 131_072 } }
    expect(
      await windowsOf({
        '/v1/models': { data: [entry] },
        '/props': { default_generation_settings: { n_ctx: 8192 }, modalities: { vision: false } },
      }),
    ).toEqual({ provider: 'llamacpp', windows: [['qwen.gguf', 8192, 131_072]] })
  })

  it('equals the value that vLLM serves', async () => {
    const entry = { id: 'org/model', owned_by: 'vllm', max_model_len: 16_384 }
    expect(await windowsOf({ '/v1/models': { data: [entry] } })).toEqual({
      provider: 'vllm',
      windows: [['org/model', 16_384, undefined]],
    })
  })

  it('stays unknown if the server does not report it', async () => {
    expect(await windowsOf({ '/v1/models': { data: [{ id: 'some' }] } })).toEqual({
      provider: 'guess',
      windows: [['some', undefined, undefined]],
    })
  })
})
