import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getModelPaths, type ModelTask } from '../../src/local/models/pulled.js'
import { getRuntimeBuild, getRuntimeEntry, getRuntimeFolder, RUNTIME } from '../../src/local/models/runtime.js'
import { buildEmbedderGguf } from './gguf.js'

/**
 * A replacement of node-llama-cpp with the used part of its interface: vectors count letters, an answer repeats the
 * question. Certain texts make it fail after the first delta of an answer: `DIE` ends its process, `HANG` never ends,
 * `GROW` allocates memory.
 */
const MODULE = `
const act = (text) => {
  if (text.includes('DIE')) process.kill(process.pid, 'SIGKILL')
  if (text.includes('HANG')) for (;;);
  if (text.includes('GROW')) for (const taken = []; ; ) if (taken.length < 20) taken.push(Buffer.alloc(1 << 24, 1))
}
const tokenize = (text) => [...text].map((letter) => letter.codePointAt(0))
const vectorOf = (tokens) => {
  const vector = new Array(8).fill(0.01)
  for (const token of tokens) vector[token % 8] += 1
  return vector
}
const model = {
  trainContextSize: 512,
  embeddingVectorSize: 8,
  tokenize,
  createEmbeddingContext: async () => ({
    getEmbeddingFor: async (tokens) => {
      const text = String.fromCodePoint(...tokens)
      act(text)
      return { vector: vectorOf(tokens) }
    },
  }),
  createRankingContext: async () => ({
    rank: async (query, document) => (act(document), document.includes(query) ? 0.9 : 0.1),
  }),
  createContext: async () => ({ getSequence: () => ({ clearHistory: async () => {} }) }),
}
export const getLlama = async () => ({
  loadModel: async ({ modelPath }) => {
    const { readFileSync } = await import('node:fs')
    if (readFileSync(modelPath).includes('UNLOADABLE')) throw new Error('unknown model architecture')
    return model
  },
})
export class LlamaChatSession {
  #history = []
  #system
  constructor({ systemPrompt }) { this.#system = systemPrompt }
  setChatHistory(history) { this.#history = history }
  async promptWithMeta(prompt, { onTextChunk }) {
    const [first, ...words] = [this.#system ?? 'none', String(this.#history.length), prompt]
    onTextChunk(first + ' ')
    act(prompt)
    for (const word of words) onTextChunk(word + ' ')
    return { responseText: [first, ...words].join(' '), stopReason: 'eogToken' }
  }
  dispose() {}
}
`

/** Writes the fake runtime into the folder where npm would install it. */
export function installFakeLlama(folder: string): void {
  const entry = getRuntimeEntry(folder)
  const build = join(folder, 'node_modules', getRuntimeBuild() ?? '')
  for (const path of [dirname(entry), build]) mkdirSync(path, { recursive: true })
  writeFileSync(entry, MODULE)
  writeFileSync(join(dirname(dirname(entry)), 'package.json'), JSON.stringify({ name: RUNTIME.name, type: 'module' }))
  writeFileSync(join(build, 'package.json'), '{}')
}

/** Writes the fake runtime and a pulled model into a folder of models. @returns the id of the model */
export function installPulledModel(
  models: string,
  task: ModelTask,
  more: Record<string, unknown> = {},
  weights: Buffer = buildEmbedderGguf(),
): string {
  const id = `fake-${task}@0123456789ab`
  installFakeLlama(getRuntimeFolder(models))
  const paths = getModelPaths(models, id)
  mkdirSync(paths.path, { recursive: true })
  writeFileSync(paths.weights, weights)
  const model = { task, sha256: 'x', bytes: weights.length, source: 'test', contextTokens: 512, ...more }
  writeFileSync(paths.manifest, JSON.stringify(model))
  return id
}

/**
 * A program `npm` that installs the fake runtime. With a file `hang` next to it, it stops half-way until its parent
 * process ends.
 *
 * @returns the folder to put first into PATH
 */
export function installFakeNpm(folder: string): string {
  const files = join(folder, 'fake-runtime')
  installFakeLlama(files)
  const script = `#!/usr/bin/env node
const { cpSync, existsSync, mkdirSync, writeFileSync } = require('node:fs')
const at = process.argv[process.argv.indexOf('--prefix') + 1]
writeFileSync(${JSON.stringify(join(folder, 'npm-arguments'))}, process.argv.slice(2).join(' '))
mkdirSync(at + '/node_modules/${RUNTIME.name}/dist', { recursive: true })
const parent = process.ppid
if (existsSync(${JSON.stringify(join(folder, 'hang'))})) setInterval(() => process.ppid === parent || process.exit(1), 20)
else cpSync(${JSON.stringify(files)}, at, { recursive: true })
`
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'npm'), script)
  chmodSync(join(bin, 'npm'), 0o755)
  return bin
}
