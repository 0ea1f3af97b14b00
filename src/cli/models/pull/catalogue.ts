import type { ModelTask } from '../../../local/models/pulled.js'

/** A model of the catalogue: a GGUF file in a repository of the hub. */
export interface CatalogueEntry {
  name: string
  task: ModelTask
  languages: string
  license: string
  /** Rounded file size in bytes; the hub provides the exact size. */
  bytes: number
  repository: string
  revision: string
  file: string
  /** Absent if the hub provides it. */
  sha256?: string
  /** Whether the project's tests have run this model, in this or another file. */
  isTested: boolean
  /** Prefixes of the model's training. */
  queryPrefix?: string
  documentPrefix?: string
}

const MB = 1_000_000
const GB = 1000 * MB
const HUB = 'https://huggingface.co'

function defineModel(
  name: string,
  task: ModelTask,
  languages: string,
  license: string,
  bytes: number,
  [repository, file, revision = 'main']: readonly [string, string, string?],
  more: Partial<Pick<CatalogueEntry, 'isTested' | 'queryPrefix' | 'documentPrefix'>> = {},
): CatalogueEntry {
  return { name, task, languages, license, bytes, repository, file, revision, isTested: false, ...more }
}

export const CATALOGUE: readonly CatalogueEntry[] = [
  defineModel(
    'all-minilm-l6-v2',
    'embedding',
    'English',
    'Apache-2.0',
    25 * MB,
    ['second-state/All-MiniLM-L6-v2-Embedding-GGUF', 'all-MiniLM-L6-v2-Q8_0.gguf'],
    { isTested: true },
  ),
  defineModel(
    'bge-small-en-v1.5',
    'embedding',
    'English',
    'MIT',
    37 * MB,
    ['CompendiumLabs/bge-small-en-v1.5-gguf', 'bge-small-en-v1.5-q8_0.gguf'],
    { queryPrefix: 'Represent this sentence for searching relevant passages: ' },
  ),
  defineModel(
    'multilingual-e5-small',
    'embedding',
    'about 100',
    'MIT',
    130 * MB,
    // Several other conversions fail to load or return almost the same vector for every text.
    [
      'TwinSunsLLC/multilingual-e5-small-gguf',
      'multilingual-e5-small-q8_0.gguf',
      'b6cac9615d4ecce28d7f22539b7322d695fc2886',
    ],
    { queryPrefix: 'query: ', documentPrefix: 'passage: ' },
  ),
  defineModel(
    'embeddinggemma-300m',
    'embedding',
    'about 100',
    'Gemma',
    330 * MB,
    ['ggml-org/embeddinggemma-300M-GGUF', 'embeddinggemma-300M-Q8_0.gguf'],
    { queryPrefix: 'task: search result | query: ', documentPrefix: 'title: none | text: ' },
  ),
  defineModel('bge-reranker-v2-m3', 'rerank', 'about 100', 'Apache-2.0', 636 * MB, [
    'gpustack/bge-reranker-v2-m3-GGUF',
    'bge-reranker-v2-m3-Q8_0.gguf',
  ]),
  defineModel('qwen3-reranker-0.6b', 'rerank', 'about 100', 'Apache-2.0', 640 * MB, [
    'ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF',
    'qwen3-reranker-0.6b-q8_0.gguf',
  ]),
  defineModel('qwen3-1.7b', 'chat', 'about 100', 'Apache-2.0', 1.83 * GB, [
    'Qwen/Qwen3-1.7B-GGUF',
    'Qwen3-1.7B-Q8_0.gguf',
  ]),
  defineModel('qwen3-4b', 'chat', 'about 100', 'Apache-2.0', 2.5 * GB, ['Qwen/Qwen3-4B-GGUF', 'Qwen3-4B-Q4_K_M.gguf']),
  defineModel('smollm3-3b', 'chat', 'six European', 'Apache-2.0', 1.92 * GB, [
    'ggml-org/SmolLM3-3B-GGUF',
    'SmolLM3-Q4_K_M.gguf',
  ]),
]

/** The address of a file of the hub, or of its mirror in `HF_ENDPOINT`. */
export function getHubAddress({ repository, revision, file }: CatalogueEntry, env: NodeJS.ProcessEnv): string {
  const endpoint = env.HF_ENDPOINT?.trim() || HUB
  return `${endpoint.replace(/\/+$/, '')}/${repository}/resolve/${revision}/${file}`
}
