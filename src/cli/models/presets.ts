/** A hosted service with the OpenAI-compatible protocol: its address and the usual variable of its key. */
export interface ProviderPreset {
  baseUrl: string
  apiKeyEnv: string
  /** Minimum window of its current chat models in tokens; absent without chat models. */
  contextTokens?: number
}

/** Hosted services reject longer input; for a model with a smaller window, the request is repeated with half of it. */
const HOSTED_CONTEXT_TOKENS = 32_768

function createChatPreset(baseUrl: string, apiKeyEnv: string): ProviderPreset {
  return { baseUrl, apiKeyEnv, contextTokens: HOSTED_CONTEXT_TOKENS }
}

export const PRESETS: Readonly<Record<string, ProviderPreset>> = {
  anthropic: createChatPreset('https://api.anthropic.com/v1', 'ANTHROPIC_API_KEY'),
  cerebras: createChatPreset('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  cohere: createChatPreset('https://api.cohere.ai/compatibility/v1', 'COHERE_API_KEY'),
  'cohere-rerank': { baseUrl: 'https://api.cohere.com/v2', apiKeyEnv: 'COHERE_API_KEY' },
  deepinfra: createChatPreset('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  deepseek: createChatPreset('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  fireworks: createChatPreset('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  gemini: createChatPreset('https://generativelanguage.googleapis.com/v1beta/openai', 'GEMINI_API_KEY'),
  groq: createChatPreset('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  huggingface: createChatPreset('https://router.huggingface.co/v1', 'HF_TOKEN'),
  jina: { baseUrl: 'https://api.jina.ai/v1', apiKeyEnv: 'JINA_API_KEY' },
  mistral: createChatPreset('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  nvidia: createChatPreset('https://integrate.api.nvidia.com/v1', 'NVIDIA_API_KEY'),
  openai: createChatPreset('https://api.openai.com/v1', 'OPENAI_API_KEY'),
  openrouter: createChatPreset('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  together: createChatPreset('https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  voyage: { baseUrl: 'https://api.voyageai.com/v1', apiKeyEnv: 'VOYAGE_API_KEY' },
  xai: createChatPreset('https://api.x.ai/v1', 'XAI_API_KEY'),
}

/** Services whose address contains the name of a customer's resource. */
export const CUSTOM_ADDRESS_HINTS: Readonly<Record<string, string>> = {
  azure:
    '`ks models add https://RESOURCE.openai.azure.com/openai/v1 --provider azure --key-env AZURE_OPENAI_API_KEY`; its models have the names of your deployments',
}

/** Local servers at their default addresses. */
export const LOCAL_SERVERS: readonly { provider: string; url: string }[] = [
  { provider: 'ollama', url: 'http://127.0.0.1:11434' },
  { provider: 'lmstudio', url: 'http://127.0.0.1:1234' },
  { provider: 'llamacpp', url: 'http://127.0.0.1:8080' },
  { provider: 'vllm', url: 'http://127.0.0.1:8000' },
]
