/** Counts the turns of the event loop that other work got while the given work ran. */
export async function countTurnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return turns
}
