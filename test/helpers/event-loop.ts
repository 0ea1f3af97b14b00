/** Counts the turns of the event loop in which timers ran while the given work ran. */
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
