# MrBayes: a phylogeny of made-up sequences, a Markov chain on each rank.
packages=mrbayes-mpi

input() {
    awk -v chains=$((ranks / 2)) 'BEGIN {
        srand(7)
        taxa = 12
        sites = 300
        printf "#NEXUS\nbegin data;\ndimensions ntax=%d nchar=%d;\nformat datatype=dna;\nmatrix\n", taxa, sites
        for (i = 1; i <= sites; i++)
            base[1, i] = 1 + int(4 * rand())
        for (t = 1; t <= taxa; t++) {
            printf "taxon%d ", t
            parent = int((t + 1) / 2)
            for (i = 1; i <= sites; i++) {
                base[t, i] = rand() < 0.1 ? 1 + int(4 * rand()) : base[parent, i]
                printf "%s", substr("ACGT", base[t, i], 1)
            }
            print ""
        }
        printf ";\nend;\nbegin mrbayes;\nset seed=1 swapseed=1 autoclose=yes nowarn=yes;\nlset nst=6 rates=gamma;\n"
        printf "mcmc ngen=2000 nruns=2 nchains=%d samplefreq=100 printfreq=1000 diagnfreq=500 filename=chains;\nend;\n", chains
    }' >sequences.nex
}
program() {
    rm -f chains.*
    "$@" /usr/lib/mrbayes-mpi/mb-mpi sequences.nex # mb-mpi calls mpirun itself
}
verdict() {
    grep -E '^ +[0-9]+ -- ' output | sed 's/ -- [0-9:]*$//'
    grep -E 'Average standard deviation|Likelihood of best state' output
}
