internal import CLibwebsockets
internal import Glibc

/// The machine's processors.
package enum Processors {
    /// How many this process may use: those that it is allowed on (`taskset`, cpusets), not all that there are.
    package static var usable: Int {
        var set = [UInt64](repeating: 0, count: 128)
        let isKnown = unsafe set.withUnsafeMutableBytes { unsafe patchbay_affinity($0.baseAddress, UInt($0.count)) == 0 }
        return max(1, isKnown ? set.reduce(0) { $0 + $1.nonzeroBitCount } : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
