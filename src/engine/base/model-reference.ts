/** Names a model: the only reference to a model that crosses the API. */
export interface ModelReference {
  pluginId: string
  provider: string
  model: string
}

/** As settings write it. */
export function modelName({ pluginId, provider, model }: ModelReference): string {
  return `${pluginId}/${provider}/${model}`
}
