export function Graph() {
  return null
}
