#!/bin/sh
# The figures of docs/paper.md, all by `attractor plot`, into docs/pictures/paper: sh tools/paper-figures.sh DATA FOLDER
# They are drawn from the orbits, models and line searches under results/. DATA has the files of the paper's public data set; FOLDER takes what is
# simulated and cut, and the numbers behind the figures. The command `attractor` of a release build must be in the path.
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
data=$(cd "$1" && pwd)
pictures=$root/docs/pictures/paper
mkdir -p "$pictures" "$2"
cd "$2"
for inputs in orbits models line-searches; do
    ln -sfn "$root/results/$inputs" "$inputs"
done

simulated() {
    name=$1
    shift
    [ -e "$name.npy" ] || attractor simulate "$@" --standardize --out "$name.npy"
}
# Rows of a recording as a table with titles of our own: NAME FILE DT FIRST LAST SED
cut_out() {
    [ -e "$1.csv" ] && return
    attractor convert "$2" "$1-rows.csv" --dt "$3" --from "row:$4" --to "row:$5"
    sed "1$6" "$1-rows.csv" > "$1.csv"
}
# Whether all orbits, models and searches among some words are there.
are_there() {
    for word; do
        case $word in
        orbits/* | models/* | line-searches/*)
            [ -e "$word" ] || { echo "left out for want of $word: $name" && return 1; }
            ;;
        esac
    done
}
# Numbers behind a figure are written beside it; of these pictures they are not kept.
picture() {
    name=$1
    shift
    are_there "$@" || return 0
    attractor plot "$@" --out "$name.svg" > "$name.txt"
    cp "$name.svg" "$pictures/"
}
# Where an SVG is large; pngquant, if it is there, makes the PNG a third as large.
pixels() {
    name=$1
    shift
    are_there "$@" || return 0
    attractor plot "$@" --out "$name.png" > "$name.txt"
    if command -v pngquant > /dev/null; then
        pngquant --nofs --force 128 --output "$pictures/$name.png" "$name.png"
    else
        cp "$name.png" "$pictures/"
    fi
}
# Files of the methods of a data set that are there, in the order of the paper's table, and what they are called: DATA ENDING
methods() {
    files='' labels=''
    for pair in 'gtf:shPLRNN + GTF' 'agtf:shPLRNN + aGTF' 'stf:shPLRNN + STF' 'dend-idtf:dendPLRNN + id-TF' \
        reservoir:RC lstm:LSTM-TBPTT neural-ode:N-ODE lem:LEM; do
        file=orbits/$1-${pair%%:*}$2
        if [ -e "$file" ]; then
            files="$files $file" labels="$labels,${pair#*:}"
        fi
    done
    labels=${labels#,}
}

simulated lorenz96_test lorenz96 --set n=20 --set forcing=16 --dt 0.01 --steps 100000 --seed 2
simulated lorenz96_multiscale_test lorenz96-multiscale --method fixed --dt 0.005 --steps 100000 --transient 500000 --seed 1
cut_out lorenz63 "$data/lorenz63_test.npy" 0.01 2501 4001 's/x1,x2,x3/x,y,z/'
cut_out lorenz96 lorenz96_test.npy 0.01 1 1001 's/$//'
cut_out multiscale lorenz96_multiscale_test.npy 0.005 1 4001 's/^time/time [MTU]/'
cut_out ecg "$data/ECG_pecuzal_5d_test.npy" 0.0014285714285714286 501 4001 's/^\([^,]*\)/\1 [s]/'
cut_out eeg "$data/EEG_train.npy" 0.00625 501 1301 's/^time/time [s]/'
cut_out ecg1 "$data/ECG_pecuzal_5d_test.npy" 0.0014285714285714286 1 100001 's/^\([^,]*\)/\1 [s]/'

picture 1 jacobian-norms models/lorenz63-gtf.safetensors --data "$data/lorenz63_on0.05_train.npy" --labels Lorenz-63
picture 2 gtf-scheme
for set in lorenz63:Lorenz-63:lorenz63_on0.05_train ecg:ECG:ECG_pecuzal_5d_train eeg:EEG:EEG_train; do
    file=${set##*:} one=${set%%:*} label=${set#*:} label=${label%%:*}
    picture "S1-$one" commutators "models/$one-gtf.safetensors" --data "$data/$file.npy" --labels "$label"
    [ "$one" = eeg ] || picture "S2-$one" alpha-estimates "models/$one-gtf.safetensors" --data "$data/$file.npy" --labels "$label"
done
picture S3 line-search line-searches/lorenz63 line-searches/lorenz96 line-searches/ecg line-searches/eeg --labels Lorenz-63,Lorenz-96,ECG,EEG
picture S4 reconstruction orbits/lorenz63-gtf.npy --labels 'shPLRNN + GTF' --data lorenz63.csv --steps 1500
picture S5 heat-map orbits/lorenz96-gtf.npy --labels 'shPLRNN + GTF' --data lorenz96.csv --steps 1000
pixels S9 lyapunov-fit ecg1.csv --channels x1 --labels ECG --delay 59 --dims 4:8
pixels S10 loss-landscape models/lorenz63-gtf.safetensors --data "$data/lorenz63_on0.05_train.npy" --labels Lorenz-63

methods lorenz96-multiscale .npy
picture S6 heat-map $files --labels "$labels" --data multiscale.csv --steps 4000
picture S7 forecast $files --labels "$labels" --data multiscale.csv --show 1 --steps 600
pixels S8 short-term $files --labels "$labels" --data multiscale.csv --steps 400
methods eeg .npy
picture 3 reconstruction $files --labels "$labels" --data eeg.csv --show 1 --steps 800
pixels S11 heat-map $files --labels "$labels" --data eeg.csv --steps 320 --z-score --width 120
methods ecg .npy
pixels S12 reconstruction $files --labels "$labels" --data ecg.csv --show 1 --steps 3500
methods eeg -5-ahead.npy
pixels S13 n-step $files --labels "$labels" --data eeg.csv --show 1 --steps 200 --ahead 5
