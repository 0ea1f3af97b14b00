export interface Page<T> {
  items: T[]
  nextCursor?: string
}

export interface PageRequest {
  limit: number
  cursor?: string | undefined
}
