internal import Glibc

/// How the dynamic linker resolves a name. ELF gives a program's own definition precedence over a library's ("interposition").
enum DynamicSymbol {
    /// The library's function of a name that this program defines too.
    static func library(_ name: String) -> UnsafeMutableRawPointer? {
        // RTLD_NEXT, which Swift does not import.
        unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
    }

    /// The function that the program's libraries call by this name.
    static func resolved(_ name: String) -> UnsafeMutableRawPointer? {
        // RTLD_DEFAULT.
        unsafe dlsym(nil, name)
    }
}
