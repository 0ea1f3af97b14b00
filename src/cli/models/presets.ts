/** A hosted service that speaks the OpenAI-compatible protocol: where it is, and where its key usually stands. */
export interface Preset {
  baseUrl: string
  apiKeyEnv: string
}

export const PRESETS: Readonly<Record<string, Preset>> = {
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', apiKeyEnv: 'DEEPSEEK_API_KEY' },
  gemini: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', apiKeyEnv: 'GEMINI_API_KEY' },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', apiKeyEnv: 'GROQ_API_KEY' },
  jina: { baseUrl: 'https://api.jina.ai/v1', apiKeyEnv: 'JINA_API_KEY' },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', apiKeyEnv: 'MISTRAL_API_KEY' },
  openai: { baseUrl: 'https://api.openai.com/v1', apiKeyEnv: 'OPENAI_API_KEY' },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', apiKeyEnv: 'OPENROUTER_API_KEY' },
  together: { baseUrl: 'https://api.together.xyz/v1', apiKeyEnv: 'TOGETHER_API_KEY' },
}

/** Servers of this machine, where they listen when nobody has changed it. */
export const LOCAL_SERVERS: readonly { provider: string; url: string }[] = [
  { provider: 'ollama', url: 'http://127.0.0.1:11434' },
  { provider: 'lmstudio', url: 'http://127.0.0.1:1234' },
  { provider: 'llamacpp', url: 'http://127.0.0.1:8080' },
  { provider: 'vllm', url: 'http://127.0.0.1:8000' },
]
