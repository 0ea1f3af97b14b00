/**
 * Whether work on twice the input takes about twice the processor time; a quadratic algorithm takes four times. Garbage
 * collection and a cold compiler only increase the time, so a bad result is measured again.
 *
 * @param work called with the size of its input
 * @returns the last processor times in milliseconds, and whether they grow linearly
 */
export async function measureGrowth(
  work: (size: number) => Promise<unknown>,
  { size, floorMs }: { size: number; floorMs: number },
): Promise<{ halfMs: number; wholeMs: number; isLinear: boolean }> {
  const measureMs = async (inputSize: number) => {
    const before = process.cpuUsage()
    await work(inputSize)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  await work(Math.ceil(size / 50))
  for (let tries = 3; ; tries--) {
    const halfMs = await measureMs(size / 2)
    const fullMs = await measureMs(size)
    const isLinear = fullMs < Math.max(floorMs, halfMs * 3)
    if (isLinear || tries === 1) return { halfMs, wholeMs: fullMs, isLinear }
  }
}
