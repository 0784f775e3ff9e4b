internal import Glibc

/// A library's own function of a name that this program defines anew: the next one after ours (ELF's rules of interposition).
func libraryFunction(named name: String) -> UnsafeMutableRawPointer? {
    // RTLD_NEXT, which Swift does not import.
    unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
}

/// The function of a name that the libraries of this program call.
func foundFunction(named name: String) -> UnsafeMutableRawPointer? {
    // RTLD_DEFAULT.
    unsafe dlsym(nil, name)
}
