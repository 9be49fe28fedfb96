// node tint.mjs FILE...   Passes each WGSL file to Tint, the compiler of Chromium, through the npm package `webgpu`.
// Its null backend needs no driver. Few files a process: with many it aborts or hangs.
import { create, globals } from 'webgpu';
import { readFileSync, writeSync } from 'node:fs';
Object.assign(globalThis, globals);
const adapter = await create(['backend=null']).requestAdapter();
const requiredFeatures = ['shader-f16', 'subgroups'].filter((name) => adapter.features.has(name));
const requiredLimits = { maxStorageBuffersPerShaderStage: adapter.limits.maxStorageBuffersPerShaderStage,
  maxComputeInvocationsPerWorkgroup: adapter.limits.maxComputeInvocationsPerWorkgroup,
  maxComputeWorkgroupSizeX: adapter.limits.maxComputeWorkgroupSizeX,
  maxComputeWorkgroupStorageSize: adapter.limits.maxComputeWorkgroupStorageSize };
const device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
let bad = 0;
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, 'utf8');
  // naga refuses the directive that Tint asks for, so shaders come without it.
  const code = /\bsubgroup/.test(text) ? 'enable subgroups;\n' + text : text;
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code });
  const { messages } = await module.getCompilationInfo();
  const scope = await device.popErrorScope();
  const errors = messages.filter((message) => message.type === 'error');
  if (errors.length > 0 || scope) {
    bad++;
    for (const error of errors) writeSync(1, `${file}:${error.lineNum}: ${error.message}\n`);
  }
}
device.destroy(); // without it the process can abort at exit
process.exit(bad === 0 ? 0 : 3); // any other code is a fault of the package
