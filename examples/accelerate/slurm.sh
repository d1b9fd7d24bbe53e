#!/usr/bin/env bash
#SBATCH --job-name=temporal-rumors
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --time=02:00:00
# Requeued after a time-out or a failed node, a run goes on from its last whole epoch.
#SBATCH --requeue
set -euo pipefail

main=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export GPUS=$((SLURM_NNODES * SLURM_GPUS_ON_NODE)) MAIN=$main

# Arguments of this script go to the example: sbatch slurm.sh --benchmark pheme_temporal --protocol chrono
srun bash -c 'accelerate launch --multi_gpu --num_machines "$SLURM_NNODES" --machine_rank "$SLURM_NODEID" \
    --num_processes "$GPUS" --main_process_ip "$MAIN" --main_process_port 29500 --rdzv_backend c10d \
    --mixed_precision no --dynamo_backend no examples/finetune_transformer.py "$@"' bash "$@"
