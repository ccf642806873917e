;; A recipe for Guix: "guix build -f packaging/guix.scm" builds the committed sources, "guix install
;; -f packaging/guix.scm" installs them.
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
             (gnu packages pkg-config)
             (gnu packages web))

(package
  (name "libcoll")
  (version "0.2.0")
  (source (local-file ".." "libcoll-checkout"
                      #:recursive? #t
                      #:select? (git-predicate (string-append (current-source-directory) "/.."))))
  (build-system gnu-build-system)
  ;; The tests run programs with mpirun and take twenty minutes.
  (arguments (list #:tests? #f))
  (native-inputs (list autoconf automake libtool pkg-config))
  (inputs (list `(,hwloc "lib") libpng libyaml zlib))
  (propagated-inputs (list openmpi))
  (home-page #f)
  (synopsis "MPI collectives for commodity Ethernet")
  (description "libcoll runs the collective operations of MPI on clusters of commodity Ethernet,
on wide-area sites and with many ranks.  It includes programs that use it, among them an exact
K-means.")
  (license license:bsd-3))
