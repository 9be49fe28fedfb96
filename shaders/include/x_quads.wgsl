// A run of x as long as those of the weight `@`, from vector `at` on.
fn @_x(at: u32) -> Quads$@_quads {
//#if @_quads=1
  return Quads1(x_quad(at));
//#end
//#if @_quads=2
  return Quads2(x_quad(at), x_quad(at + 1u));
//#end
//#if @_quads=4
  return Quads4(x_quad(at), x_quad(at + 1u), x_quad(at + 2u), x_quad(at + 3u));
//#end
}
