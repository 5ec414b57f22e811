/**
 * The instructions of a Dockerfile, done in folders: what a builder does, as far as our file goes.
 * An image that it begins with is made by the suite; a command runs in its folder as root of it.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const CONFORMANCE = resolve('scripts', 'conformance')

interface Instruction {
  getKeyword(): string
  getArguments(): { getValue(): string }[]
  getArgumentsContent(): string | null
  /** Of instructions that may have options: `--from=build`. */
  getFlags?(): { getName(): string; getValue(): string | null }[]
}

/** The instructions, in order, read by a parser that is not ours. */
export function instructionsOf(file: string): Instruction[] {
  const load = createRequire(pathToFileURL(join(CONFORMANCE, 'package.json')))
  const { DockerfileParser } = load('dockerfile-ast') as {
    DockerfileParser: { parse(text: string): { getInstructions(): Instruction[] } }
  }
  return DockerfileParser.parse(readFileSync(file, 'utf8')).getInstructions()
}

export interface Image {
  root: string
  env: Record<string, string>
  workdir: string
  user: string
  healthcheck: string[]
  entrypoint: string[]
  cmd: string[]
  volumes: string[]
}

interface Surroundings {
  /** Copies the image of that name into a folder. */
  base: (image: string, root: string) => void
  scratch: string
  /** What a builder sets. */
  args: Readonly<Record<string, string>>
  /** Of the machine: what a command needs to reach the registry from here. */
  network: Readonly<Record<string, string>>
}

/** Follows the instructions to the end; tells what the last stage is. */
export function follow(instructions: readonly Instruction[], around: Surroundings): Image {
  const stages = new Map<string, Image>()
  let args: Record<string, string> = {}
  let image: Image | undefined
  for (const instruction of instructions) {
    const words = instruction.getArguments().map((word) => word.getValue())
    const keyword = instruction.getKeyword()
    if (keyword === 'FROM') {
      image = begin(words, around, stages)
      args = {}
      continue
    }
    assert.ok(image, 'FROM comes first')
    if (keyword === 'ARG') args[words[0]!] = around.args[words[0]!]!
    else if (keyword === 'RUN')
      run(image, unfolded(instruction.getArgumentsContent()!), args, around.network)
    else if (keyword === 'COPY') {
      const flags = instruction.getFlags!()
      assert.deepEqual(
        flags.filter((flag) => flag.getName() !== 'from'),
        [],
      )
      copy(image, words, flags[0] && stages.get(flags[0].getValue()!)!)
    } else set(image, keyword, words, instruction.getArgumentsContent()!)
  }
  assert.ok(image)
  return image
}

function begin(words: string[], around: Surroundings, stages: Map<string, Image>): Image {
  const [name, as, stage] = words
  const root = join(around.scratch, `stage-${stages.size}`)
  around.base(name!, root)
  const image = {
    root,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    workdir: '/',
    user: '0:0',
    healthcheck: [],
    entrypoint: [],
    cmd: [],
    volumes: [],
  }
  stages.set(as === 'AS' ? stage! : String(stages.size), image)
  return image
}

function set(image: Image, keyword: string, words: string[], content: string): void {
  const list = () => JSON.parse(content.slice(content.indexOf('['))) as string[]
  if (keyword === 'ENV') {
    const [name, value] = words[0]!.split('=')
    image.env[name!] = value!
  } else if (keyword === 'WORKDIR') {
    image.workdir = words[0]!
    mkdirSync(join(image.root, image.workdir), { recursive: true })
  } else if (keyword === 'USER') image.user = words[0]!
  else if (keyword === 'VOLUME') image.volumes.push(words[0]!)
  else if (keyword === 'HEALTHCHECK') image.healthcheck = list()
  else if (keyword === 'ENTRYPOINT') image.entrypoint = list()
  else if (keyword === 'CMD') image.cmd = list()
  else assert.ok(['EXPOSE', 'STOPSIGNAL'].includes(keyword), `${keyword} is not done by this suite`)
}

/** A line that goes on behind a backslash, as one. */
const unfolded = (text: string) => text.replaceAll(/\\\n\s*/g, '')

/** In a mount namespace of its own: a command with its root in a folder, and its environment alone. */
const ENTER = `
root=$1 user=$2 folder=$3
shift 3
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot --userspec="$user" "$root" env -i -C "$folder" "$@"`

/** The words by which a command runs in an image, behind `unshare -m`. */
export function within(
  image: Image,
  env: Readonly<Record<string, string>>,
  words: readonly string[],
): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const { root, user, workdir } = image
  return ['sh', '-ec', ENTER, 'sh', root, user, workdir, ...variables, ...words]
}

function run(
  image: Image,
  line: string,
  args: Readonly<Record<string, string>>,
  network: Readonly<Record<string, string>>,
): void {
  const env = { ...network, ...image.env, ...args }
  execFileSync('unshare', ['-m', ...within(image, env, ['/bin/sh', '-c', line])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

/** Patterns of .dockerignore: a path, or `**` before a name. */
function isIgnored(path: string): boolean {
  const patterns = readFileSync('.dockerignore', 'utf8').trim().split('\n')
  return patterns.some((pattern) => {
    const name = pattern.replace(/^\*\*\//, '')
    assert.doesNotMatch(name, /[*?![\\]/, 'this suite reads no such pattern')
    return name === pattern ? path === name : path.split('/').at(-1) === name
  })
}

function copy(image: Image, words: readonly string[], stage: Image | undefined): void {
  const paths = words.slice(0, -1)
  const to = resolve(image.workdir, words.at(-1)!)
  for (const path of paths) {
    const source = stage === undefined ? path : join(stage.root, path)
    const target = join(image.root, to, paths.length > 1 || to === image.workdir ? path : '')
    mkdirSync(dirname(target), { recursive: true })
    // Links go along as links.
    if (stage !== undefined) execFileSync('cp', ['-a', source, target])
    else
      cpSync(source, target, { recursive: true, filter: (file) => !isIgnored(relative('.', file)) })
  }
}

/** What commands need in their environment to reach the network as this machine does. */
export function networkOf(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
}

/** The files that they need for it. */
export function giveNetwork(root: string): void {
  for (const file of ['/etc/resolv.conf', networkOf()['NODE_EXTRA_CA_CERTS']]) {
    if (file === undefined) continue
    mkdirSync(join(root, dirname(file)), { recursive: true })
    writeFileSync(join(root, file), readFileSync(file))
  }
}
