/** Names a model: the only reference to a model that crosses the API. */
export interface ModelReference {
  pluginId: string
  provider: string
  model: string
}
