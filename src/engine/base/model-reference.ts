/** Identifies a model: the only form in which the API refers to models. */
export interface ModelReference {
  pluginId: string
  provider: string
  model: string
}

/** The name of a model as settings contain it. */
export function formatModelName({ pluginId, provider, model }: ModelReference): string {
  return `${pluginId}/${provider}/${model}`
}
