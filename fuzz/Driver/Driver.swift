private import Foundation
private import FuzzBodies

/// Runs libFuzzer on the target named by FUZZ_TARGET. With FUZZ_SEEDS, first writes the target's seeds to that folder.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        fatalError("FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
}()

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Swift Package Manager expects the entry point under this name; libFuzzer's own is named differently.
@_cdecl("patchbay_fuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    if let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] {
        for (number, seed) in target.seeds.enumerated() {
            guard FileManager.default.createFile(atPath: "\(folder)/seed-\(number)", contents: Data(seed)) else {
                fatalError("cannot write to \(folder)")
            }
        }
    }
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { start, count in
        target.run(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    }
}
