;; A recipe for Guix: "guix build -f packaging/guix.scm" builds what is committed here, "guix install
;; -f" installs it.
(use-modules (guix build-system gnu)
             (guix gexp)
             (guix git-download)
             ((guix licenses) #:prefix license:)
             (guix packages)
             (gnu packages autotools)
             (gnu packages compression)
             (gnu packages image)
             (gnu packages maths)
             (gnu packages mpi)
             (gnu packages pkg-config))

(package
  (name "libcoll")
  (version "0.1.0")
  (source (local-file ".." "libcoll-checkout"
                      #:recursive? #t
                      #:select? (git-predicate (string-append (current-source-directory) "/.."))))
  (build-system gnu-build-system)
  ;; The tests start programs by mpirun, for twenty minutes.
  (arguments (list #:tests? #f))
  (native-inputs (list autoconf automake libtool pkg-config))
  (inputs (list `(,hwloc "lib") libpng openblas zlib))
  (propagated-inputs (list openmpi))
  (home-page #f)
  (synopsis "MPI collectives for commodity Ethernet")
  (description "libcoll runs the collective operations of MPI on clusters of commodity Ethernet,
on wide-area sites and with many ranks, and has programs on top of them, an exact K-means among
others.")
  (license license:bsd-3))
