/** Memory of accelerators that plans are made for, as their makers state it, of one chip or GPU. */

const GIB = 2 ** 30;

export const DEVICES: readonly { name: string; bytes: number }[] = [
  { name: "TPU v4", bytes: 32 * GIB },
  { name: "TPU v5e", bytes: 16 * GIB },
  { name: "TPU v5p", bytes: 95 * GIB },
  { name: "TPU v6e", bytes: 32 * GIB },
  { name: "TPU v7", bytes: 192 * GIB },
  { name: "T4", bytes: 16 * GIB },
  { name: "L4", bytes: 24 * GIB },
  { name: "A100 40 GB", bytes: 40 * GIB },
  { name: "A100 80 GB", bytes: 80 * GIB },
  { name: "H100", bytes: 80 * GIB },
  { name: "H200", bytes: 141 * GIB },
  { name: "B200", bytes: 192 * GIB },
  { name: "MI250X, one die", bytes: 64 * GIB },
  { name: "MI300X", bytes: 192 * GIB },
  { name: "MI325X", bytes: 256 * GIB },
];
