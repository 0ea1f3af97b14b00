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

type CatalogueDetails = Omit<CatalogueEntry, 'name' | 'task' | 'revision' | 'isTested'> & Partial<CatalogueEntry>

function defineModel(name: string, task: ModelTask, details: CatalogueDetails): CatalogueEntry {
  return { name, task, revision: 'main', isTested: false, ...details }
}

export const CATALOGUE: readonly CatalogueEntry[] = [
  defineModel('all-minilm-l6-v2', 'embedding', {
    languages: 'English',
    license: 'Apache-2.0',
    bytes: 25 * MB,
    repository: 'second-state/All-MiniLM-L6-v2-Embedding-GGUF',
    file: 'all-MiniLM-L6-v2-Q8_0.gguf',
    isTested: true,
  }),
  defineModel('bge-small-en-v1.5', 'embedding', {
    languages: 'English',
    license: 'MIT',
    bytes: 37 * MB,
    repository: 'CompendiumLabs/bge-small-en-v1.5-gguf',
    file: 'bge-small-en-v1.5-q8_0.gguf',
    queryPrefix: 'Represent this sentence for searching relevant passages: ',
  }),
  defineModel('multilingual-e5-small', 'embedding', {
    languages: 'about 100',
    license: 'MIT',
    bytes: 130 * MB,
    // Several other conversions fail to load or return almost the same vector for every text.
    repository: 'TwinSunsLLC/multilingual-e5-small-gguf',
    file: 'multilingual-e5-small-q8_0.gguf',
    revision: 'b6cac9615d4ecce28d7f22539b7322d695fc2886',
    queryPrefix: 'query: ',
    documentPrefix: 'passage: ',
  }),
  defineModel('embeddinggemma-300m', 'embedding', {
    languages: 'about 100',
    license: 'Gemma',
    bytes: 330 * MB,
    repository: 'ggml-org/embeddinggemma-300M-GGUF',
    file: 'embeddinggemma-300M-Q8_0.gguf',
    queryPrefix: 'task: search result | query: ',
    documentPrefix: 'title: none | text: ',
  }),
  defineModel('bge-reranker-v2-m3', 'rerank', {
    languages: 'about 100',
    license: 'Apache-2.0',
    bytes: 636 * MB,
    repository: 'gpustack/bge-reranker-v2-m3-GGUF',
    file: 'bge-reranker-v2-m3-Q8_0.gguf',
  }),
  defineModel('qwen3-reranker-0.6b', 'rerank', {
    languages: 'about 100',
    license: 'Apache-2.0',
    bytes: 640 * MB,
    repository: 'ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF',
    file: 'qwen3-reranker-0.6b-q8_0.gguf',
  }),
  defineModel('qwen3-1.7b', 'chat', {
    languages: 'about 100',
    license: 'Apache-2.0',
    bytes: 1.83 * GB,
    repository: 'Qwen/Qwen3-1.7B-GGUF',
    file: 'Qwen3-1.7B-Q8_0.gguf',
  }),
  defineModel('qwen3-4b', 'chat', {
    languages: 'about 100',
    license: 'Apache-2.0',
    bytes: 2.5 * GB,
    repository: 'Qwen/Qwen3-4B-GGUF',
    file: 'Qwen3-4B-Q4_K_M.gguf',
  }),
  defineModel('smollm3-3b', 'chat', {
    languages: 'six European',
    license: 'Apache-2.0',
    bytes: 1.92 * GB,
    repository: 'ggml-org/SmolLM3-3B-GGUF',
    file: 'SmolLM3-Q4_K_M.gguf',
  }),
]

/** The address of a file of the hub, or of its mirror in `HF_ENDPOINT`. */
export function getHubAddress({ repository, revision, file }: CatalogueEntry, env: NodeJS.ProcessEnv): string {
  const endpoint = env.HF_ENDPOINT?.trim() || HUB
  return `${endpoint.replace(/\/+$/, '')}/${repository}/resolve/${revision}/${file}`
}
